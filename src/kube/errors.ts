import { type ErrorCode, StowageError } from '../api/errors.ts';
import type { Status } from '../api/meta.ts';

/** The API server refused a request. */
export class ApiError extends StowageError {
  override readonly name = 'ApiError';
  readonly status: Status;
  /** The HTTP status code. */
  readonly statusCode: number;
  /** As in meta/v1, e.g. `AlreadyExists`; '' when the server gave none. */
  readonly reason: string;

  /** `request` is the method and path, for servers (or proxies) that answer without a message. */
  constructor(status: Status, statusCode: number, request: string) {
    const code = status.code ?? statusCode;
    const hint = hintFor(code, status);
    super(
      errorCodeFor(code),
      status.message || `${request} was answered with ${code}`,
      hint === undefined ? {} : { hint },
    );
    this.status = status;
    this.statusCode = code;
    this.reason = status.reason ?? '';
  }
}

/** The API server did not answer: not reached, cut off, too slow, or not speaking the API. */
export class ConnectionError extends StowageError {
  override readonly name: string = 'ConnectionError';
  readonly server: string;

  constructor(
    server: string,
    what: string,
    options: { code?: 'failed' | 'timeout'; hint?: string; cause?: unknown } = {},
  ) {
    super(options.code ?? 'failed', `API server ${server}: ${what}`, {
      hint:
        options.hint ??
        'Check that the server is up and reachable, and the server and context of the kubeconfig.',
      ...('cause' in options ? { cause: options.cause } : {}),
    });
    this.server = server;
  }
}

/** An answer had more bytes than the request allowed; it was not read to its end. */
export class AnswerTooLong extends ConnectionError {
  override readonly name = 'AnswerTooLong';
}

function errorCodeFor(code: number): ErrorCode {
  switch (code) {
    case 401:
    case 403:
      return 'forbidden';
    case 404:
      return 'not-found';
    case 409:
      return 'conflict';
    case 408:
    case 504:
      return 'timeout';
    default:
      return 'failed';
  }
}

function hintFor(code: number, status: Status): string | undefined {
  if (code === 401) return 'The credentials of the kubeconfig were not accepted; log in again.';
  if (code === 403) return 'Ask for the permission, or use another --context or --as.';
  // A missing object names itself in the details; a missing kind does not.
  if (code === 404 && status.details?.name === undefined) {
    return 'The server may not know this kind. What defines Volumes is installed by: stowage install --components crds';
  }
  return undefined;
}

const withCode = (error: unknown, ...codes: number[]): error is ApiError =>
  error instanceof ApiError && codes.includes(error.statusCode);

export const isNotFound = (error: unknown): error is ApiError => withCode(error, 404);
/** Returns undefined in place of what the API server does not have; other errors are thrown. */
export async function ignoreNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export const isAlreadyExists = (error: unknown): error is ApiError =>
  withCode(error, 409) && error.reason === 'AlreadyExists';
/** A precondition failed: somebody else wrote first. (AlreadyExists is a 409 too, and is not meant here.) */
export const isConflict = (error: unknown): error is ApiError =>
  withCode(error, 409) && error.reason !== 'AlreadyExists';
/** The server understood and will not have the object as it is: invalid, forbidden, or malformed. */
export const isRefusal = (error: unknown): error is ApiError =>
  withCode(error, 400) || withCode(error, 403) || withCode(error, 422);
