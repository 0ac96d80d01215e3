import { join } from "node:path";
import { defineConfig } from "vite";

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
  server: {
    host: "127.0.0.1",
    proxy: { "/v1": { target: { socketPath, host: "localhost", port: 80 }, ws: true } },
  },
});
