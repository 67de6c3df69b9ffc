import { isDnsSubdomain } from '../../../api/dns-name.ts';
import { StowageError } from '../../../api/errors.ts';
import type { ChoiceName, ChoicesAnswer } from '../../../ui/protocol.ts';
import type { Choice } from '../../lib/prompts/prompts.ts';
import { publicMessage, publicName } from '../public-text.ts';
import { globalArguments } from '../run-command.ts';
import type { ActionScene } from './plan-action.ts';
import type { FieldProblem } from './read-action.ts';
import { rehearse } from './rehearsal.ts';
import { runAction } from './run-action.ts';

/** Maximum choices of a question. */
const MOST_CHOICES = 500;

/** Any valid name: the command ends at its first question. */
const NAME = 'choices';

/**
 * Command lines whose first open question is the wanted one. So the page offers what the wizard in
 * a terminal offers, with its reasons.
 */
const COMMANDS: Readonly<Record<ChoiceName, (node: string) => string[]>> = {
  device: (node) => creating(node, '--type', 'raw'),
  group: (node) => creating(node, '--type', 'lvm'),
  storageClass: (node) => creating(node, '--size', '1Gi'),
  snapshot: () => ['restore', 'snapshot', '--output', 'json'],
};

const creating = (node: string, ...more: readonly string[]): string[] => [
  ...['create', 'volume', '--node', node],
  ...more,
  ...['--output', 'json', '--', NAME],
];

/** Ends a command at its first question. */
class QuestionReached extends StowageError {
  constructor() {
    super('conflict', 'the question is reached');
  }
}

/** Returns the arguments for a question; a problem for anything else than a valid request. Pure. */
export function choicesArguments(body: object): string[] | FieldProblem {
  const { of, node = 'n', ...rest } = body as Record<string, unknown>;
  if (typeof of !== 'string' || !Object.hasOwn(COMMANDS, of) || Object.keys(rest).length > 0)
    return { problem: 'There are no such choices' };
  if (typeof node !== 'string' || !isDnsSubdomain(node))
    return { field: 'node', problem: 'Choose a node first.' };
  return COMMANDS[of as ChoiceName](node);
}

/** Returns the choices of the wizard's question. Writes nothing. */
export async function readChoices(
  argv: readonly string[],
  { run, io, connection, flags }: ActionScene,
  signal: AbortSignal,
): Promise<ChoicesAnswer> {
  let found: readonly Choice[] = [];
  const notes: string[] = [];
  let hasReached = false;
  const reached = async (): Promise<never> => {
    hasReached = true;
    throw new QuestionReached();
  };
  const { error } = await runAction(run, io, {
    argv: [...globalArguments(flags), ...argv],
    connection: rehearse(connection).connection,
    prompts: {
      input: reached,
      confirm: reached,
      select: (_message, choices) => {
        found = choices;
        return reached();
      },
    },
    signal,
    onLine: (line) => {
      if (line.startsWith('note: ')) notes.push(line.slice('note: '.length));
    },
  });
  if (error !== undefined && !hasReached) notes.push(error.message);
  return {
    choices: found
      // The empty value stands for a typed one.
      .filter(({ value }) => value !== '')
      .slice(0, MOST_CHOICES)
      .map(({ name, value, disabled }) => ({
        value: publicName(value),
        text: publicMessage(name),
        disabled: publicMessage(disabled),
      })),
    notes,
  };
}
