import {
  type Answers,
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
  /** Field of an action that is wrong; '' if it is none. */
  readonly field: string;

  constructor({ error, code, field = '' }: UiError) {
    super(error);
    this.code = code;
    this.field = field;
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

/** Reads data. It throws a RequestError if it is refused. */
export type Read<T> = (signal: AbortSignal) => Promise<T>;

/** Returns the read of a path of these words. */
const at =
  <T>(...words: readonly string[]): Read<T> =>
  async (signal) =>
    (await request(`/api/${words.map(encodeURIComponent).join('/')}`, { signal })).json();

/** Reads of the screens. Names of claims and snapshots are `NAMESPACE/NAME`. */
export const reads = {
  volume: (name: string) => at<VolumeDetail>('volumes', name),
  usage: (name: string) => at<Answers['usage']>('volumes', name, 'usage'),
  claim: (name: string) => at<Answers['claim']>('claims', ...name.split('/')),
  snapshot: (name: string) => at<Answers['snapshot']>('snapshots', ...name.split('/')),
  node: (name: string) => at<Answers['node']>('nodes', name),
  check: (name: string) => at<Answers['check']>('nodes', name, 'check'),
  devices: (name: string) => at<Answers['devices']>('nodes', name, 'devices'),
  grants: at<Answers['grants']>('grants'),
  populators: at<Answers['populators']>('populators'),
  blocked: at<BlockedObjects>('blocked'),
};
