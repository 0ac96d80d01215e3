import { fileURLToPath } from "node:url";
import { build } from "vite";

/** A file of this folder with the SDK, made as for a browser: a module, or a script that leaves `sdk` behind. */
export async function bundle(file: string, format: "es" | "iife" = "es"): Promise<string> {
  const entry = fileURLToPath(new URL(file, import.meta.url));
  const made = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      target: "es2024",
      lib: { entry, formats: [format], name: "sdk", fileName: "page" },
      rollupOptions: { output: { codeSplitting: false } },
    },
  });
  const [output] = [made].flat() as { output: { code: string }[] }[];
  return output?.output[0]?.code ?? "";
}
