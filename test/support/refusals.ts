import type { Resource, Status } from '../../src/api/meta.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';

/** Returns the error of a client for a request that the API server refuses. */
export const refusal = (statusCode: number, message = 'no', more: Partial<Status> = {}): ApiError =>
  new ApiError(
    { apiVersion: 'v1', kind: 'Status', status: 'Failure', message, ...more },
    statusCode,
    'GET',
  );

type Method = 'get' | 'list' | 'create' | 'delete';

/**
 * Wraps a client whose requests of this method the server refuses, for one kind if `resource` is
 * given.
 */
export const refusing =
  (
    method: Method,
    statusCode: number,
    { resource, message }: { resource?: Resource; message?: string } = {},
  ) =>
  (client: KubeClient): KubeClient => ({
    ...client,
    [method]: (asked: Resource, ...rest: unknown[]) =>
      resource === undefined || asked.kind === resource.kind
        ? Promise.reject(refusal(statusCode, message))
        : (client[method] as (...call: unknown[]) => unknown)(asked, ...rest),
  });
