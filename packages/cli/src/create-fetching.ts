import type { CreateSandboxRequest, OperationAnswer, TorporClient, WaitingForRoom } from "@torpor/sdk/calls";
import { TorporError } from "@torpor/sdk/calls";
import { withProgress } from "./image-progress.ts";

/** An image that is not here is fetched by a call of its own, since only that one tells how far it is. */
export async function createFetching(
  client: TorporClient,
  request: CreateSandboxRequest,
  waiting: WaitingForRoom,
): Promise<OperationAnswer> {
  const { image } = request;
  if (request.pull === false || image === undefined) return client.create(request, waiting);
  try {
    return await client.create({ ...request, pull: false }, waiting);
  } catch (error) {
    if (!(error instanceof TorporError) || error.code !== "image_not_found") throw error;
  }
  await withProgress((progress) => client.images.pull({ reference: image }, progress));
  return client.create(request, waiting);
}
