import type { Status } from '../api/meta.ts';
import { ApiError } from './errors.ts';

/** Parses the JSON of a response. Throws an Error for anything but an object. */
export function objectOf(text: string): object {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null) return value;
  throw new Error(`the answer is not a JSON object: ${text.slice(0, 200)}`);
}

/** Returns the error of a response with this HTTP status. `request` is its method and path. */
export function apiError(text: string, statusCode: number, request: string): ApiError {
  let status: Status;
  try {
    status = JSON.parse(text) as Status;
    if (status.kind !== 'Status') throw new Error('not a Status');
  } catch {
    // A proxy in between answers without a Status.
    const message = `${request} returned status ${statusCode}: ${text.slice(0, 200)}`;
    status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', message };
  }
  return new ApiError(status, statusCode, request);
}
