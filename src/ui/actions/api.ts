import { request } from '../api.ts';
import { lineSplitter } from '../lines.ts';
import type {
  ActionName,
  ActionRights,
  ChoiceName,
  ChoicesAnswer,
  FieldValues,
  PlanAnswer,
  RightsAnswer,
  RunMessage,
} from './protocol.ts';

const post = (path: string, body: object, signal?: AbortSignal): Promise<Response> =>
  request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });

/** Plans an action. Throws a RequestError, with the field if one is wrong. */
export const planAction = async (
  action: ActionName,
  fields: FieldValues,
  signal: AbortSignal,
): Promise<PlanAnswer> => (await post('/api/plan', { action, ...fields }, signal)).json();

/**
 * Runs a planned action, and calls `take` with each of its messages. Throws a RequestError if it
 * does not start, and an Error if the connection breaks or `signal` ends it: the command then goes
 * on.
 */
export async function runAction(
  action: ActionName,
  fields: FieldValues,
  plan: string,
  confirm: string,
  take: (message: RunMessage) => void,
  signal: AbortSignal,
): Promise<void> {
  const body = { action, ...fields, plan, ...(confirm !== '' && { confirm }) };
  const response = await post('/api/run', body, signal);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const split = lineSplitter();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return;
    for (const line of split(decoder.decode(value, { stream: true }))) take(JSON.parse(line));
  }
}

export const readChoices = async (
  of: ChoiceName,
  node: string,
  signal: AbortSignal,
): Promise<ChoicesAnswer> =>
  (await post('/api/choices', { of, ...(node !== '' && { node }) }, signal)).json();

/** Time (ms) for which rights are remembered, as by the server. */
const RIGHTS_MS = 60_000;
const known = new Map<string, { at: number; rights: Promise<ActionRights> }>();

/** Reads the rights in a namespace, at most once a minute; '' is that of the kubeconfig. */
export function readRights(namespace: string): Promise<ActionRights> {
  const last = known.get(namespace);
  if (last !== undefined && performance.now() - last.at < RIGHTS_MS) return last.rights;
  const rights = post('/api/rights', namespace === '' ? {} : { namespace })
    .then((response) => response.json() as Promise<RightsAnswer>)
    .then((answer) => answer.rights);
  known.set(namespace, { at: performance.now(), rights });
  // The next button asks again.
  rights.catch(() => known.delete(namespace));
  return rights;
}
