import { describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";

const read = (args: string[], env: NodeJS.ProcessEnv = {}) => readConfig(args, env).listening;

test("torpord listens where it is told to, and nowhere else", () => {
  expect(read([]).addresses).toEqual([]);
  expect(read(["--listen", "off"], { TORPOR_LISTEN: "127.0.0.1:1" }).addresses).toEqual([]);
  expect(read([], { TORPOR_LISTEN: "127.0.0.1:80, [::1]:81" }).addresses).toEqual([
    { host: "127.0.0.1", port: 80, spare: 0 },
    { host: "::1", port: 81, spare: 0 },
  ]);
  expect(read(["--listen", "auto"]).addresses).toEqual([{ host: "127.0.0.1", port: 7867, spare: 20 }]);
  expect(read(["--listen", "localhost:0"]).addresses).toMatchObject([{ host: "127.0.0.1" }]);
});

test.each(["7867", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "::1:80", "http://127.0.0.1:80", "a b:80"])(
  "%s is no address",
  (text) => {
    expect(() => read(["--listen", text])).toThrow(
      expect.objectContaining({ code: "invalid_request", message: expect.stringContaining("is no address") }),
    );
  },
);

describe("beyond this host", () => {
  const open = ["--listen", "0.0.0.0:80"];

  test.each([[[]], [["--public-url", "http://torpor.example"]]])("it is refused without encryption: %j", (more) => {
    expect(() => read([...open, ...more])).toThrow(
      expect.objectContaining({ message: expect.stringContaining("without encryption"), hint: expect.stringContaining("--insecure-http") }),
    );
  });

  test.each([[["--tls-cert", "c.pem", "--tls-key", "k.pem"]], [["--public-url", "https://torpor.example"]], [["--insecure-http"]]])(
    "it may with %j",
    (more) => {
      expect(read([...open, ...more]).addresses).toHaveLength(1);
    },
  );
});

test("certificates need their key, and a public URL is an origin", () => {
  expect(() => read(["--tls-cert", "c.pem"])).toThrow(/need each other/);
  for (const url of ["torpor.example", "ftp://torpor.example", "https://torpor.example/path", "https://u:p@torpor.example"]) {
    expect(() => read(["--public-url", url]), url).toThrow(/no address of a server/);
  }
  expect(read(["--public-url", "https://Torpor.example/"]).publicUrl?.origin).toBe("https://torpor.example");
  expect(read(["--allow-host", "A.test,b.test"]).allowHosts).toEqual(["a.test", "b.test"]);
});
