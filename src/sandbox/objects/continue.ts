import { badRequest } from '../refusal.ts';

/** Start of a page: after the object with this key, in the state of this version. */
export interface Continuation {
  version: number;
  key: string;
}

const TOKEN_VERSION = 'meta.k8s.io/v1';

/** Returns an opaque token, as the API server writes it (apiserver, storage/continue.go). */
export function formatContinue({ version, key }: Continuation): string {
  const token = { v: TOKEN_VERSION, rv: version, start: `${key}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** Parses a token. Throws a 400 for an invalid one. */
export function parseContinue(text: string): Continuation {
  const refuse = (why: string) =>
    badRequest(`invalid continue token: continue key is not valid${why === '' ? '' : `: ${why}`}`);
  let token: { v?: string; rv?: number; start?: string };
  try {
    token = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch (error) {
    throw refuse((error as Error).message);
  }
  const { v = '', rv = 0, start = '' } = token;
  if (v !== TOKEN_VERSION) throw refuse(`server does not recognize this encoded version ${v}`);
  if (rv === 0) throw refuse(`incorrect encoded start resourceVersion (version ${TOKEN_VERSION})`);
  if (start === '') throw refuse(`encoded start key empty (version ${TOKEN_VERSION})`);
  if (start.split('/').some((step) => step === '.' || step === '..')) throw refuse(start);
  return { version: rv, key: start.endsWith('\u0000') ? start.slice(0, -1) : start };
}
