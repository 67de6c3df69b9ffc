import type { KubeObject, Resource } from '../api/meta.ts';
import type { KubeClient } from './types.ts';

const ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
};

interface Review extends KubeObject {
  status?: { allowed?: boolean };
}

/** A right, in the terms of RBAC. Without a namespace: in all of them. */
export interface Right {
  group: string;
  resource: string;
  verb: string;
  subresource?: string;
  namespace?: string;
}

/**
 * Reports whether the caller has a right. Every account may send this request. Throws the error of
 * the API server.
 */
export async function isAllowed(
  client: Pick<KubeClient, 'create'>,
  resourceAttributes: Right,
  signal: AbortSignal,
): Promise<boolean> {
  // API servers take no metadata here, not even a name.
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: ACCESS_REVIEWS.kind,
    metadata: {} as KubeObject['metadata'],
    spec: { resourceAttributes },
  };
  const { status } = await client.create<Review>(ACCESS_REVIEWS, review, { signal });
  return status?.allowed === true;
}
