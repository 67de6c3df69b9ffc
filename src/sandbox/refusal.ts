import type { Status } from '../api/meta.ts';
import type { Cause, Kind } from './kind.ts';

/** Request that the server answers with a Status of failure. */
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

/**
 * Returns the name of a resource in messages and of its table in the store:
 * `volumes.storage.metalk8s.scality.com`.
 */
export function resourceName(kind: Kind): string {
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}

type Details = NonNullable<Status['details']>;

/** Returns the details of a Status, without empty fields, as Go does. */
const detailsOf = ({ group, plural }: Kind, name: string) => ({
  name,
  ...(group === '' ? {} : { group }),
  kind: plural,
});

export const badRequest = (message: string) => new Refusal(400, 'BadRequest', message);

export const notFound = (kind: Kind, name: string) =>
  new Refusal(404, 'NotFound', `${resourceName(kind)} "${name}" not found`, detailsOf(kind, name));

/** Unknown path, answered without a Status, as by Go's own handler. */
export class NoSuchPath extends Error {}

/**
 * Returns the error for an unknown path. `within` a group and version of built-in kinds, the API
 * server answers with a Status.
 */
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
 * Returns the refusal of an invalid object, or of the options of a request. kubectl rebuilds its
 * message from kind, name and causes: `The Volume "x" is invalid: …`.
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

/** Quotes a string as Go's %q, whose escapes for control characters differ from JSON's. */
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

/** Returns the cause for an invalid value. `shown`: the value as JSON; omitted if undefined. */
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
