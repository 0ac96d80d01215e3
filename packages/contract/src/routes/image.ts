import { z } from "zod";
import { BuildImageRequest, Image, ImageList, ImageProgress, ImportImageRequest, PruneResult, PullImageRequest } from "../image.ts";
import { type Content, json, route } from "../route-shape.ts";

const imageLines: Record<number, Content> = { 200: { kind: "lines", schema: Image, lines: ImageProgress } };

export const imageRoutes = {
  listImages: route({
    method: "GET",
    path: "/v1/images",
    tag: "images",
    scope: "sandbox:read",
    summary: "Images on this host.",
    responses: { 200: json(ImageList) },
  }),
  pullImage: route({
    method: "POST",
    path: "/v1/images/pull",
    tag: "images",
    scope: "image",
    summary: "Fetch an image from a registry.",
    body: PullImageRequest,
    responses: imageLines,
  }),
  importImage: route({
    method: "POST",
    path: "/v1/images/import",
    tag: "images",
    scope: "*",
    host: true,
    summary: "Take an image from a file or directory of the daemon's host.",
    body: ImportImageRequest,
    responses: imageLines,
  }),
  buildImage: route({
    method: "POST",
    path: "/v1/images/build",
    tag: "images",
    scope: "image",
    summary: "Make a Debian image from packages, without a registry.",
    body: BuildImageRequest,
    responses: imageLines,
  }),
  removeImage: route({
    method: "DELETE",
    path: "/v1/images",
    tag: "images",
    scope: "image",
    summary: "Take a reference away, and the image with its last one.",
    query: z.strictObject({ reference: z.string().min(1).max(512) }),
    responses: { 200: json(Image) },
  }),
  pruneImages: route({
    method: "POST",
    path: "/v1/images/prune",
    tag: "images",
    scope: "image",
    summary: "Remove every image that nothing needs.",
    responses: { 200: json(PruneResult) },
  }),
} as const;
