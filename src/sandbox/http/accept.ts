import type { IncomingMessage } from 'node:http';
import { Refusal } from '../refusal.ts';

const TRANSFORMED = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;
const VERSIONS = ['v1', 'v1beta1'] as const;

/** Form in which objects are shown: as stored, or as a kind of meta.k8s.io. */
export type Form =
  | 'json'
  | { as: (typeof TRANSFORMED)[number]; version: (typeof VERSIONS)[number] };

/** Returns the first supported form in the Accept header. Throws a 406 if there is none. */
export function accepted(request: IncomingMessage): Form {
  const header = request.headers.accept;
  if (header === undefined || header.trim() === '') return 'json';
  for (const range of header.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const { as: wanted, g, v } = Object.fromEntries(parameters.map((one) => one.split('=')));
    if (wanted === undefined) return 'json';
    const as = TRANSFORMED.find((one) => one === wanted);
    const version = VERSIONS.find((one) => one === v);
    if (g === 'meta.k8s.io' && as !== undefined && version !== undefined) return { as, version };
  }
  throw notAcceptable(
    'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  );
}

export const notAcceptable = (message: string) => new Refusal(406, 'NotAcceptable', message);
