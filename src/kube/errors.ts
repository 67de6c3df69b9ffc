import { type ErrorCode, StowageError } from '../api/errors.ts';
import type { Status } from '../api/meta.ts';

/** Refusal of a request by the API server. */
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
      status.message || `${request} returned status ${code}`,
      hint === undefined ? {} : { hint },
    );
    this.status = status;
    this.statusCode = code;
    this.reason = status.reason ?? '';
  }
}

/** Lack of a response: the API server is unreachable, too slow, cut off, or no API server. */
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

/** Response with more bytes than the request allowed. The rest was not read. */
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
  if (code === 401)
    return 'Log in again: the server did not accept the credentials of the kubeconfig.';
  if (code === 403) return 'Ask for the permission, or use another --context or --as.';
  // A missing object names itself in the details; a missing kind does not.
  if (code === 404 && status.details?.name === undefined) {
    return 'If the server does not know this kind, install the CRDs: stowage install --components crds';
  }
  return undefined;
}

const withCode = (error: unknown, ...codes: number[]): error is ApiError =>
  error instanceof ApiError && codes.includes(error.statusCode);

export const isNotFound = (error: unknown): error is ApiError => withCode(error, 404);
/** Returns undefined if the API server answers with a 404; throws other errors. */
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
/** Reports a failed precondition: another client wrote first. Excludes AlreadyExists, a 409 too. */
export const isConflict = (error: unknown): error is ApiError =>
  withCode(error, 409) && error.reason !== 'AlreadyExists';
/** Reports whether the server refused the object as it is: malformed, forbidden or invalid. */
export const isRefusal = (error: unknown): error is ApiError =>
  withCode(error, 400) || withCode(error, 403) || withCode(error, 422);
