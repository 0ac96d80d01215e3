import { Readable } from "node:stream";
import { type Entry, routes, toErrorBody } from "@torpor/contract";
import type { GuestFiles } from "@torpor/core";
import type { FastifyInstance } from "fastify";
import { defined } from "../defined.ts";
import { toTorporError } from "../error-answer.ts";
import { leaving } from "../leaving.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";
import { startStream } from "../start-stream.ts";
import { uploadOf } from "../upload.ts";
import { watchLines } from "../watch-lines.ts";
import { wholeFile } from "../whole-file.ts";

/** Files and archives; their contents are streams, never held in memory. */
export function serveFiles(app: FastifyInstance, { lifecycle }: Served): void {
  const filesOf = async (id: string): Promise<GuestFiles> => (await lifecycle.guest(id)).files;
  serve(app, routes.statFile, async ({ params, query: { path, ...options } }) => (await filesOf(params.id)).stat(path, defined(options)));
  serve(app, routes.listFiles, async ({ params, query: { path, ...options } }) => ({
    entries: await (await filesOf(params.id)).list(path, defined(options)),
  }));
  serve(app, routes.watchFiles, async ({ params, query: { path, ...options }, reply, request }) => {
    const changes = (await filesOf(params.id)).watch(path, { ...defined(options), signal: leaving(reply) });
    const lines = watchLines(changes, (error) => toErrorBody(toTorporError(error, request)).error);
    return reply.type("application/x-ndjson").send(await startStream(lines));
  });
  serve(app, routes.makeDirectory, async ({ params, body: { path, ...options }, reply }) => {
    reply.code(201);
    return (await filesOf(params.id)).makeDirectory(path, defined(options));
  });
  serve(app, routes.moveFile, async ({ params, body: { from, to, ...options } }) =>
    (await filesOf(params.id)).move(from, to, defined(options)),
  );
  serve(app, routes.removeFile, async ({ params, query: { path, ...options } }) =>
    (await filesOf(params.id)).remove(path, defined(options)),
  );
  serve(app, routes.readFile, async ({ params, query: { path, ...options }, reply }) => {
    const file = await (await filesOf(params.id)).read(path, { ...defined(options), signal: leaving(reply) });
    const { length, content } = wholeFile(file.entry, file.content);
    if (length !== undefined) reply.header("content-length", length);
    return reply
      .header("x-torpor-entry", encodeEntry(file.entry))
      .type("application/octet-stream")
      .send(Readable.from(content, { objectMode: false }));
  });
  serve(app, routes.readArchive, async ({ params, query: { path, ...options }, reply }) => {
    const archive = (await filesOf(params.id)).readArchive(path, { ...defined(options), signal: leaving(reply) });
    return reply.type("application/x-tar").send(await startStream(archive));
  });

  // A scope of its own, where a body of any type is a stream.
  app.register((uploads, _options, done) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    serve(uploads, routes.writeFile, async ({ params, query: { path, ...options }, request }) =>
      (await filesOf(params.id)).write(path, uploadOf(request), defined(options)),
    );
    serve(uploads, routes.writeArchive, async ({ params, query: { path, ...options }, request }) =>
      (await filesOf(params.id)).writeArchive(path, uploadOf(request), defined(options)),
    );
    done();
  });
}

/** Percent-encoded, since a header has no UTF-8 and a file's name may be anything. */
function encodeEntry(entry: Entry): string {
  return encodeURIComponent(JSON.stringify(entry));
}
