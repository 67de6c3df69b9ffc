import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeProtobuf } from '../protobuf/decode.ts';
import { badRequest, Refusal } from '../refusal.ts';

/** Limit of a request, as in etcd. A larger body is refused before it is in memory. */
const BODY_LIMIT = 3 * 1024 * 1024;

export function contentType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim() ?? '';
}

/** Reads a body. Throws a 413. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_LIMIT)
      throw new Refusal(413, 'RequestEntityTooLarge', `limit is ${BODY_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Parses the JSON in a body; returns undefined if it is empty. Throws 400 or 413. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    throw badRequest(`the body of the request is not JSON: ${(error as Error).message}`);
  }
}

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/**
 * Parses a body of JSON, or of protobuf, in which kubectl sends objects that
 * it generates. Throws 400 or 413.
 */
export async function readEither(request: IncomingMessage): Promise<unknown> {
  return contentType(request) === PROTOBUF
    ? decodeProtobuf(await readBody(request))
    : readJson(request);
}

export function sendJson(response: ServerResponse, code: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(code, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
