import { InvalidArgumentError } from 'commander';
import { isDnsSubdomain } from '../../../api/dns-name.ts';
import { isHost, isMinionId } from '../../../model/node-address.ts';
import { duration, wholeNumber } from '../parse.ts';

/** Parser of a value. Throws an Error that states what the value must be. */
export type Field<T> = (value: unknown) => T;

export const text: Field<string> = (value) => {
  if (typeof value !== 'string' || value === '') throw new Error('it must be a string');
  return value;
};

export const yesOrNo: Field<boolean> = (value) => {
  if (typeof value !== 'boolean') throw new Error('it must be true or false');
  return value;
};

export const oneOf =
  <T extends string>(...choices: T[]): Field<T> =>
  (value) => {
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new Error(`it must be one of ${choices.join(', ')}`);
    return found;
  };

export const number =
  (min: number, max: number): Field<number> =>
  (value) => {
    // A number may be written as text, as in a flag.
    return asFieldError(() =>
      wholeNumber(min, max)(typeof value === 'number' ? String(value) : text(value)),
    );
  };

/** Parses a duration into ms. */
export const time: Field<number> = (value) => asFieldError(() => duration(text(value)));

export const nodeName: Field<string> = (value) => {
  if (typeof value !== 'string' || !isDnsSubdomain(value))
    throw new Error('it must be the name of a node');
  return value;
};

export const objectName: Field<string> = (value) => {
  if (typeof value !== 'string' || !isDnsSubdomain(value))
    throw new Error('it must be the name of an object');
  return value;
};

export const host: Field<string> = (value) => {
  if (typeof value !== 'string' || !isHost(value))
    throw new Error('it must be a host name or an IP address');
  return value;
};

export const minionId: Field<string> = (value) => {
  if (typeof value !== 'string' || !isMinionId(value))
    throw new Error('it must be the id of a Salt minion');
  return value;
};

export const list =
  <T>(item: Field<T>): Field<T[]> =>
  (value) => {
    if (!Array.isArray(value)) throw new Error('it must be a list');
    return value.map((each, index) => at(`[${index}]`, () => item(each)));
  };

/** Parses a mapping whose keys are data. */
export const mapOf =
  <T>(key: Field<string>, item: Field<T>): Field<Map<string, T>> =>
  (value) =>
    new Map(
      entriesOf(value).map(([name, each]) =>
        at(`.${name}`, () => [key(name), item(each)] as const),
      ),
    );

/** Parses a mapping of some of these fields, and no others. */
export const fieldsOf =
  <T extends object>(fields: { [K in keyof T]-?: Field<NonNullable<T[K]>> }): Field<T> =>
  (value) => {
    const known = Object.keys(fields);
    const read = entriesOf(value).map(([name, each]) =>
      at(`.${name}`, () => {
        if (!Object.hasOwn(fields, name))
          throw new Error(`unknown field; the fields are: ${known.join(', ')}`);
        return [name, fields[name as keyof T](each)] as const;
      }),
    );
    return Object.fromEntries(read) as T;
  };

/** Invalid value with its path. */
export class FieldError extends Error {
  /** Path of the field, such as `.nodes.n1.port`. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('it must be a mapping');
  return Object.entries(value);
}

function at<T>(step: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    throw new FieldError(step + (error instanceof FieldError ? error.path : ''), message);
  }
}

/** Converts the error of a flag's parser into the error of a field. */
function asFieldError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new Error(error.message.replace(/\.$/, ''));
    throw error;
  }
}
