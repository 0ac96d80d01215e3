import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

/** For work on the page: `TORPOR_DATA=… npm run dev -w @torpor/web` serves it over the daemon's own socket, as its owner. */
const socketPath = join(process.env.TORPOR_DATA ?? "/var/lib/torpor", "torpord.sock");

export default defineConfig({
  build: {
    target: "es2023",
    // The daemon forbids inline content of any kind.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  plugins: [compressed()],
  server: {
    host: "127.0.0.1",
    proxy: { "/v1": { target: { socketPath, host: "localhost", port: 80 }, ws: true } },
  },
});

/** Beside each file what browsers ask for in its place, so that the daemon compresses nothing on the way. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    writeBundle({ dir = "dist" }) {
      for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
        if (!/\.(html|js|css|svg)$/.test(name)) continue;
        const file = join(dir, name);
        const content = readFileSync(file);
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
        writeFileSync(`${file}.br`, brotliCompressSync(content));
      }
    },
  };
}
