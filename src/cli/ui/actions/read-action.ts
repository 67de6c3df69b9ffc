import type { ActionName, FieldValues } from '../../../ui/protocol.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import { option, sameCommand } from '../../lib/wizard/same-command.ts';
import { ACTIONS, type ActionCommand } from './table.ts';

/** Maximum characters of a field: a path of a device is the longest. */
const MOST_CHARACTERS = 1024;

/** Action whose fields are valid, with its command. */
export interface ReadAction {
  action: ActionName;
  fields: FieldValues;
  command: ActionCommand;
  /** Arguments without global flags. The name follows `--`, so that it is no option. */
  argv: string[];
}

/** Reason why a body is no action. `field` is from the table, never from the body. */
export interface FieldProblem {
  problem: string;
  field?: string;
}

/**
 * Reads an action and its fields from the body of a request. Unknown fields, and values of another
 * type than text or `true`, are problems. Pure.
 * @param beside names of the body that are no fields
 */
export function readAction(
  body: object,
  beside: readonly string[] = [],
): ReadAction | FieldProblem {
  const { action, ...rest } = body as Record<string, unknown>;
  if (typeof action !== 'string' || !Object.hasOwn(ACTIONS, action))
    return { problem: 'There is no such action' };
  const row = ACTIONS[action as ActionName];
  const given = Object.entries(rest).filter(([name]) => !beside.includes(name));
  if (given.some(([name]) => !Object.hasOwn(row.fields, name)))
    return { problem: 'The action has no such field' };
  const values = new Map(given);
  const fields: Record<string, string | true> = {};
  for (const [field, { check, optional }] of Object.entries(row.fields)) {
    const value = values.get(field);
    if (value === undefined && optional) continue;
    if (value === undefined || value === '') return { field, problem: 'A value is required.' };
    const problem = check === undefined ? tickProblem(value) : textProblem(value, check);
    if (problem !== undefined) return { field, problem };
    fields[field] = value as string | true;
  }
  const command = row.command(fields);
  return { action: action as ActionName, fields, command, argv: argumentsOf(command) };
}

const tickProblem = (value: unknown): string | undefined =>
  value === true ? undefined : 'It is ticked, or left out.';

function textProblem(value: unknown, check: (text: string) => void): string | undefined {
  if (typeof value !== 'string') return 'It must be a text.';
  if (value.length > MOST_CHARACTERS) return `It has at most ${MOST_CHARACTERS} characters.`;
  try {
    check(value);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns the arguments of a command. After `--`, a name is a name, whatever it begins with. */
export const argumentsOf = (
  { words, name, more = [], options }: Pick<ActionCommand, 'words' | 'name' | 'more' | 'options'>,
  flags: readonly string[] = [],
): string[] => [
  ...words,
  ...Object.entries(options).flatMap(([flag, value]) => option(flag, value)),
  ...flags,
  '--output',
  'json',
  '--',
  name,
  ...more,
];

/** Returns the equal command line for a terminal, which asks what the page asks. Pure. */
export const commandText = (
  { words, name, more = [], options }: ActionCommand,
  { kubeconfig, context, as }: Pick<GlobalFlags, 'kubeconfig' | 'context' | 'as'>,
): string =>
  sameCommand([...words, name, ...more], options, {
    color: true,
    wait: options['--wait'] === true,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(as !== undefined && { as }),
  });
