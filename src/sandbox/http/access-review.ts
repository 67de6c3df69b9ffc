import { isFields } from '../json.ts';
import { badRequest } from '../refusal.ts';

/** Path for reviews of a client's rights. Nothing is stored. */
export const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** Path for reviews of a client's identity. */
export const SELF_REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** Returns the answer, which allows everything. Throws a 400 for a body that is no review. */
export function reviewed(body: unknown): object {
  if (!isFields(body) || !isFields(body.spec))
    throw badRequest('a SelfSubjectAccessReview has a spec');
  return {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    ...body,
    status: { allowed: true },
  };
}

/** Returns the identity of every client with the token. */
export const whoAsks = () => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'SelfSubjectReview',
  metadata: {},
  status: {
    userInfo: { username: 'stowage-sandbox', groups: ['system:masters', 'system:authenticated'] },
  },
});
