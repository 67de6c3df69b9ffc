import type { Status } from '../api/meta.ts';
import { ApiError } from './errors.ts';

/** The JSON of an answer. Throws an Error for what no API server answers. */
export function objectOf(text: string): object {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null) return value;
  throw new Error(`the answer is no object: ${text.slice(0, 200)}`);
}

/** The error that an answer of this HTTP status tells of; `request` is its method and path. */
export function apiError(text: string, statusCode: number, request: string): ApiError {
  let status: Status;
  try {
    status = JSON.parse(text) as Status;
    if (status.kind !== 'Status') throw new Error('not a Status');
  } catch {
    // A proxy in between answers in its own words.
    const message = `${request} was answered with ${statusCode}: ${text.slice(0, 200)}`;
    status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', message };
  }
  return new ApiError(status, statusCode, request);
}
