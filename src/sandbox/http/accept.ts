import type { IncomingMessage } from 'node:http';
import { Refusal } from '../refusal.ts';

export type Form = 'json' | 'table';

/** What the Accept header asks for first of what there is. Throws a 406 when there is none of it. */
export function accepted(request: IncomingMessage): Form {
  const header = request.headers.accept;
  if (header === undefined || header.trim() === '') return 'json';
  for (const range of header.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const { as, g, v } = Object.fromEntries(parameters.map((one) => one.split('=')));
    if (as === undefined) return 'json';
    if (as === 'Table' && g === 'meta.k8s.io' && v === 'v1') return 'table';
  }
  throw new Refusal(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/json;as=Table;v=v1;g=meta.k8s.io',
  );
}
