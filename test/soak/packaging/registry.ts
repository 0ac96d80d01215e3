import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

interface Published {
  readonly name: string;
  readonly "dist-tags": Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, { readonly dist: { readonly shasum?: string } }>>;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** As much of an npm registry as `npm publish` and `npm install` of our own packages need, on loopback. */
export async function startRegistry() {
  const packages = new Map<string, Published>();
  const archives = new Map<string, Buffer>();

  const publish = async (name: string, request: IncomingMessage) => {
    const published = JSON.parse(await textOf(request)) as Published;
    for (const [file, { data }] of Object.entries(published._attachments)) {
      const archive = Buffer.from(data, "base64");
      const said = Object.values(published.versions).map(({ dist }) => dist.shasum);
      if (!said.includes(createHash("sha1").update(archive).digest("hex"))) throw new Error(`${file} is not what its checksum says`);
      archives.set(`/${name}/-/${file}`, archive);
    }
    packages.set(name, published);
  };

  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    const known = packages.get(path.slice(1));
    const archive = archives.get(path);
    if (request.method === "PUT") {
      await publish(path.slice(1), request);
      response.writeHead(201).end("{}");
    } else if (archive !== undefined) response.end(archive);
    else if (known !== undefined) response.end(JSON.stringify({ ...known, _attachments: undefined }));
    else response.writeHead(404).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    packages: packages as ReadonlyMap<string, Published>,
    close: () => server.close(),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
