import { isFields } from '../json.ts';
import { badRequest } from '../refusal.ts';

/** Where clients ask whether they may do something. Nothing is stored there. */
export const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** Where clients ask who they are. */
export const SELF_REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** The answer: here nobody is refused anything. Throws a 400 for what is no review. */
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

/** The answer: whoever has the token. */
export const whoAsks = () => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'SelfSubjectReview',
  metadata: {},
  status: {
    userInfo: { username: 'stowage-sandbox', groups: ['system:masters', 'system:authenticated'] },
  },
});
