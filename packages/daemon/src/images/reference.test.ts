import { expect, test } from "vitest";
import { formatReference, isLoopback, parseReference, resolveRegistry } from "./reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

test.each([
  ["python", "docker.io", "library/python", "python:latest"],
  ["python:3.12", "docker.io", "library/python", "python:3.12"],
  ["team/image", "docker.io", "team/image", "team/image:latest"],
  ["docker.io/library/python:3.12", "docker.io", "library/python", "python:3.12"],
  ["index.docker.io/python", "docker.io", "library/python", "python:latest"],
  ["localhost/x", "localhost", "x", "localhost/x:latest"],
  ["localhost:5000/x", "localhost:5000", "x", "localhost:5000/x:latest"],
  ["registry.example/a/b:c", "registry.example", "a/b", "registry.example/a/b:c"],
  ["[::1]:5000/x", "[::1]:5000", "x", "[::1]:5000/x:latest"],
  [`python:3.12@${digest}`, "docker.io", "library/python", `python@${digest}`],
])("%s is completed as Docker does", (text, registry, repository, short) => {
  const reference = parseReference(text);
  expect(reference).toMatchObject({ registry, repository });
  expect(formatReference(reference)).toBe(short);
  expect(parseReference(short)).toEqual(reference);
});

test.each([
  "",
  "Python",
  "a//b",
  "../etc",
  "a:b:c",
  "a@sha256:12",
  `a@${digest}@${digest}`,
  "-x",
  "--all",
  "a b",
  "x:$(id)",
  "host:port/x",
  "registry.example/",
])("%j is refused", (text) => {
  expect(() => parseReference(text)).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

test("a mirror stands in for the default registry only", () => {
  expect(resolveRegistry(parseReference("python"), "localhost:5000")).toBe("localhost:5000");
  expect(resolveRegistry(parseReference("registry.example/x"), "localhost:5000")).toBe("registry.example");
});

test("only addresses of this host are loopback", () => {
  expect(["localhost", "localhost:5000", "127.0.0.1:1", "127.1.2.3", "[::1]:80"].map(isLoopback)).not.toContain(false);
  expect(["localhost.example", "127.0.0.1.example:80", "10.0.0.1", "docker.io"].map(isLoopback)).not.toContain(true);
});
