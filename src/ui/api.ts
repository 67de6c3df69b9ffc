import {
  type BlockedObjects,
  KEY_HEADER,
  type SessionAnswer,
  type TokenAnswer,
  type UiError,
  type VolumeDetail,
} from './protocol.ts';

/** Place of the session key: each tab has its own, until it is closed. */
const STORED = 'stowage-key';

/** Refusal of a request by `stowage ui`. */
export class RequestError extends Error {
  readonly code: string;

  constructor({ error, code }: UiError) {
    super(error);
    this.code = code;
  }
}

export const hasKey = (): boolean => sessionStorage.getItem(STORED) !== null;
export const forgetKey = (): void => sessionStorage.removeItem(STORED);

/** Sends a request with the key. Throws a RequestError if it is refused. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, {
    ...init,
    headers: { ...init.headers, [KEY_HEADER]: sessionStorage.getItem(STORED) ?? '' },
    credentials: 'omit',
    redirect: 'error',
  });
  if (response.ok) return response;
  const body = (await response.json().catch(() => undefined)) as UiError | undefined;
  throw new RequestError(
    body ?? { error: `stowage ui answered with status ${response.status}`, code: 'failed' },
  );
}

const JSON_BODY = { method: 'POST', headers: { 'content-type': 'application/json' } };

/** Exchanges the token of a link for a key. Throws a RequestError if the token is not valid. */
export async function openSession(token: string): Promise<void> {
  const response = await request('/api/session', { ...JSON_BODY, body: JSON.stringify({ token }) });
  const { key } = (await response.json()) as SessionAnswer;
  sessionStorage.setItem(STORED, key);
}

export const anotherLink = async (): Promise<TokenAnswer> =>
  (await request('/api/token', { ...JSON_BODY, body: '{}' })).json();

export const readVolume = async (name: string, signal: AbortSignal): Promise<VolumeDetail> =>
  (await request(`/api/volumes/${encodeURIComponent(name)}`, { signal })).json();

export const readBlocked = async (signal: AbortSignal): Promise<BlockedObjects> =>
  (await request('/api/blocked', { signal })).json();
