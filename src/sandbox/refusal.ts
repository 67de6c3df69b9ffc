import type { Status } from '../api/meta.ts';
import type { Cause, Kind } from './kind.ts';

/** A request that the server answers with a Status of failure. */
export class Refusal extends Error {
  readonly status: Status;

  constructor(code: number, reason: string, message: string, details?: Status['details']) {
    super(message);
    this.status = {
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** `volumes.storage.metalk8s.scality.com`: how messages name a resource, and the store its table. */
export function resourceName(kind: Kind): string {
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}

type Details = NonNullable<Status['details']>;

/** Go leaves empty fields out. */
const detailsOf = ({ group, plural }: Kind, name: string) => ({
  name,
  ...(group === '' ? {} : { group }),
  kind: plural,
});

export const badRequest = (message: string) => new Refusal(400, 'BadRequest', message);

export const notFound = (kind: Kind, name: string) =>
  new Refusal(404, 'NotFound', `${resourceName(kind)} "${name}" not found`, detailsOf(kind, name));

/** Answered without a Status, as Go's own handler does. */
export class NoSuchPath extends Error {}

/** `within` a group and version of built-in kinds the routes know more than Go's handler. */
export const noSuchPath = (within: boolean) =>
  within
    ? new Refusal(404, 'NotFound', 'the server could not find the requested resource', {})
    : new NoSuchPath();

export const noMethod = () =>
  new Refusal(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );

export const notSupportedOn = (kind: Kind, verb: string) =>
  new Refusal(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind "${resourceName(kind)}"`,
    {
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.plural,
    },
  );

export const alreadyExists = (kind: Kind, name: string, isBeingDeleted: boolean) =>
  new Refusal(
    409,
    'AlreadyExists',
    `${isBeingDeleted ? 'object is being deleted: ' : ''}${resourceName(kind)} "${name}" already exists`,
    detailsOf(kind, name),
  );

export const conflict = (kind: Kind, name: string, why: string) =>
  new Refusal(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resourceName(kind)} "${name}": ${why}`,
    detailsOf(kind, name),
  );

export const notAllowed = (kind: Kind, name: string, why: string, causes?: Details['causes']) =>
  new Refusal(403, 'Forbidden', `${resourceName(kind)} "${name}" is forbidden: ${why}`, {
    ...detailsOf(kind, name),
    ...(causes && { causes }),
  });

export const expired = (message: string) => new Refusal(410, 'Expired', message);

export const unsupportedMediaType = (accepted: string[]) =>
  new Refusal(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

/**
 * kubectl rebuilds its message from kind, name and causes: `The Volume "x" is invalid: …`. `kind`: also of the options of
 * a request.
 */
export function invalid(
  kind: Pick<Kind, 'group' | 'kind'> | undefined,
  name: string,
  causes: Cause[],
): Refusal {
  const texts = [...new Set(causes.map((cause) => `${cause.field}: ${cause.text}`))];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const type =
    kind === undefined ? '' : kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return new Refusal(422, 'Invalid', `${type} "${name}" is invalid: ${list}`, {
    ...(name === '' ? {} : { name }),
    ...(kind === undefined || kind.group === '' ? {} : { group: kind.group }),
    ...(kind === undefined ? {} : { kind: kind.kind }),
    causes: causes.map((cause) => ({
      reason: cause.reason,
      message: cause.text,
      field: cause.field,
    })),
  });
}

const ESCAPES: Record<string, string> = { '07': '\\a', '0b': '\\v' };

/** A string as Go's %q writes it, which has other escapes than JSON for control characters. */
export const quoted = (text: string) =>
  JSON.stringify(text).replaceAll(/\\(?:\\|u00(..))/g, (all, code?: string) =>
    code === undefined ? all : (ESCAPES[code] ?? `\\x${code}`),
  );

export const notSupported = (
  field: string,
  value: unknown,
  supported: readonly string[],
): Cause => ({
  field,
  reason: 'FieldValueNotSupported',
  text: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`,
});

export const requiredValue = (field: string, detail = ''): Cause => ({
  field,
  reason: 'FieldValueRequired',
  text: detail === '' ? 'Required value' : `Required value: ${detail}`,
});

/** `shown`: the value as JSON; undefined: it is left out. */
export const invalidValue = (field: string, shown: string | undefined, detail: string): Cause => ({
  field,
  reason: 'FieldValueInvalid',
  text: `Invalid value: ${shown === undefined ? '' : `${shown}: `}${detail}`,
});

export const forbidden = (field: string, detail: string): Cause => ({
  field,
  reason: 'FieldValueForbidden',
  text: `Forbidden: ${detail}`,
});
