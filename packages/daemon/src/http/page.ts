import { stat } from "node:fs/promises";
import { join, normalize, sep } from "node:path";
import files from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answerUnknownRoute } from "./error-answer.ts";

/**
 * Nothing but this page's own scripts, and nobody may frame it. Styles may stand in the document: the terminal computes its own.
 * `connect-src 'self'` covers WebSockets to the same host.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The documents are text and pictures: no script at all, of nobody. */
const documentPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const yearMs = 365 * 24 * 60 * 60 * 1000;

const notBuilt = `The page is not built yet.

Run scripts/bootstrap in the checkout of Torpor, and load this again. The API is there all the same: GET /v1/openapi.json tells about it.
`;

/** Serves the page's built files, the documents below /docs/, and the page at every address that is none of a file or of the API. */
export async function servePage(app: FastifyInstance, directory: string): Promise<void> {
  await app.register(files, { root: directory, serve: false, preCompressed: true, cacheControl: false });
  app.route({
    method: ["GET", "HEAD"],
    url: "/*",
    config: { scope: "public" },
    handler: async (request, reply) => {
      const path = pathOf(request);
      if (/^\/(v1|metrics)(\/|$)/.test(path)) return answerUnknownRoute(request, reply);
      return /^\/docs(\/|$)/.test(path) ? sendDocument(reply, directory, path) : send(reply, directory, path);
    },
  });
}

async function send(reply: FastifyReply, directory: string, path: string): Promise<FastifyReply> {
  reply.header("content-security-policy", policy);
  const file = await fileAt(directory, path);
  if (file !== undefined && file !== "index.html") {
    // The bundler puts a hash into the names of what lies there.
    const forever = file.startsWith(`assets${sep}`);
    reply.header("cache-control", forever ? `public, max-age=${yearMs / 1000}, immutable` : "no-cache");
    return reply.sendFile(file);
  }
  if (path.startsWith("/assets/")) return reply.code(404).type("text/plain; charset=utf-8").send("There is no such file.\n");
  reply.header("cache-control", "no-cache");
  if ((await fileAt(directory, "/index.html")) !== undefined) return reply.sendFile("index.html");
  return reply.code(503).type("text/plain; charset=utf-8").send(notBuilt);
}

async function sendDocument(reply: FastifyReply, directory: string, path: string): Promise<FastifyReply> {
  // Their links are relative to a directory.
  if (path === "/docs") return reply.redirect("/docs/", 308);
  reply.header("content-security-policy", documentPolicy).header("cache-control", "no-cache");
  const file = await fileAt(directory, path.endsWith("/") ? `${path}index.html` : path);
  if (file !== undefined) return reply.sendFile(file);
  const built = (await fileAt(directory, "/docs/index.html")) !== undefined;
  reply.code(built ? 404 : 503).type("text/plain; charset=utf-8");
  return reply.send(built ? "There is no such document. /docs/ has the list of all.\n" : notBuilt);
}

/** The name below the directory of the file that a path means. */
async function fileAt(directory: string, path: string): Promise<string | undefined> {
  const name = normalize(path).replace(/^\/+/, "");
  if (name === "" || name.includes("\0") || name.split(sep).some((part) => part.startsWith("."))) return undefined;
  const found = await stat(join(directory, name)).catch(() => undefined);
  return found?.isFile() === true ? name : undefined;
}

function pathOf(request: FastifyRequest): string {
  const path = request.url.split("?", 1)[0] ?? "/";
  try {
    return decodeURIComponent(path);
  } catch {
    return "/";
  }
}
