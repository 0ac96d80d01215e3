import { Readable } from "node:stream";
import { type Image, type ImageProgress, routes, TorporError, toErrorBody } from "@torpor/contract";
import type { Progress } from "@torpor/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { defined } from "../defined.ts";
import { toTorporError } from "../error-answer.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

export function serveImages(app: FastifyInstance, { lifecycle, images }: Served): void {
  serve(app, routes.listImages, async () => ({ images: await images.list() }));
  serve(app, routes.pullImage, async ({ body, request, reply }) =>
    answer(request, reply, (progress) => images.pull(defined(body) as typeof body, progress)),
  );
  serve(app, routes.importImage, async ({ body, request, reply }) => answer(request, reply, (progress) => images.import(body, progress)));
  serve(app, routes.buildImage, async ({ body, request, reply }) => answer(request, reply, (progress) => images.build(body, progress)));
  serve(app, routes.removeImage, async ({ query }) => images.remove(query.reference, await lifecycle.imagesInUse()));
  serve(app, routes.pruneImages, async () => images.prune(await lifecycle.imagesInUse()));
}

type Work = (progress: Progress) => Promise<Image>;

function answer(request: FastifyRequest, reply: FastifyReply, work: Work): Promise<unknown> {
  if (!(request.headers.accept ?? "").includes("application/x-ndjson")) return work(() => {});
  const lines = new Readable({ read() {} });
  const say = (line: ImageProgress) => void lines.push(`${JSON.stringify(line)}\n`);
  // A client that leaves cancels nothing: the image is there when it asks again.
  work((progress) => say({ progress }))
    .then((image) => say({ image }))
    .catch((error: unknown) => say(toErrorBody(error instanceof TorporError ? error : toTorporError(error, request))))
    .finally(() => lines.push(null));
  return Promise.resolve(reply.type("application/x-ndjson").serializer(String).send(lines));
}
