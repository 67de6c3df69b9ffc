import type { Resource, Status } from '../../src/api/meta.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';

/** Returns what a client throws when the API server refuses a request. */
export const refusal = (statusCode: number, message = 'no', more: Partial<Status> = {}): ApiError =>
  new ApiError(
    { apiVersion: 'v1', kind: 'Status', status: 'Failure', message, ...more },
    statusCode,
    'GET',
  );

type Method = 'get' | 'list' | 'create' | 'delete';

/** Wraps a client: the server refuses its requests of this method, of one kind where `resource` is given. */
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
