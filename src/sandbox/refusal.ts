import type { Status } from '../api/meta.ts';
import type { Kind } from './kind.ts';

/** One reason why an object is invalid. `text` is what follows the field: `Required value`. */
export interface Cause {
  field: string;
  reason: string;
  text: string;
}

/** A request that the server answers with a Status of failure. */
export class Refusal extends Error {
  readonly status: Status;

  constructor(code: number, reason: string, message: string, details?: Status['details']) {
    super(message);
    this.status = {
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      message,
      reason,
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

const detailsOf = (kind: Kind, name: string) => ({ name, group: kind.group, kind: kind.plural });

export const badRequest = (message: string) => new Refusal(400, 'BadRequest', message);

export const notFound = (kind: Kind, name: string) =>
  new Refusal(404, 'NotFound', `${resourceName(kind)} "${name}" not found`, detailsOf(kind, name));

export const noSuchPath = () =>
  new Refusal(404, 'NotFound', 'the server could not find the requested resource');

export const methodNotAllowed = () =>
  new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');

export const alreadyExists = (kind: Kind, name: string) =>
  new Refusal(409, 'AlreadyExists', `${resourceName(kind)} "${name}" already exists`, detailsOf(kind, name));

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

/** kubectl rebuilds its message from kind, name and causes: `The Volume "x" is invalid: …`. */
export function invalid(kind: Kind | undefined, name: string, causes: Cause[]): Refusal {
  const texts = causes.map((cause) => `${cause.field}: ${cause.text}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const type = kind === undefined ? '' : kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return new Refusal(422, 'Invalid', `${type} "${name}" is invalid: ${list}`, {
    ...(name === '' ? {} : { name }),
    ...(kind === undefined ? {} : { group: kind.group, kind: kind.kind }),
    causes: causes.map((cause) => ({
      reason: cause.reason,
      message: cause.text,
      field: cause.field,
    })),
  });
}

export const requiredValue = (field: string, detail = ''): Cause => ({
  field,
  reason: 'FieldValueRequired',
  text: detail === '' ? 'Required value' : `Required value: ${detail}`,
});

export const invalidValue = (field: string, shown: string, detail: string): Cause => ({
  field,
  reason: 'FieldValueInvalid',
  text: `Invalid value: ${shown}: ${detail}`,
});

export const forbidden = (field: string, detail: string): Cause => ({
  field,
  reason: 'FieldValueForbidden',
  text: `Forbidden: ${detail}`,
});
