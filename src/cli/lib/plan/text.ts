import type { Precondition, Step } from '../../../nodes/job.ts';
import { quote, quoteAll } from '../../../nodes/quote.ts';
import { printable } from '../output/printable.ts';

/**
 * Returns steps as lines for a shell, each after its name. `preconditions`: also what is checked
 * right before each step.
 */
export function planText(steps: readonly Step[], preconditions: boolean): string {
  return steps
    .map((step) =>
      stepLines(step, preconditions)
        .map((line) => `${printable(line)}\n`)
        .join(''),
    )
    .join('');
}

function stepLines(step: Step, preconditions: boolean): string[] {
  const command = quoteAll(step.argv);
  return [
    comment(step.name),
    ...(preconditions && step.lock !== undefined ? [comment(`  with ${step.lock} locked`)] : []),
    ...(preconditions ? step.preconditions.flatMap(preconditionLines) : []),
    step.stdin === undefined ? command : `${feed(step.stdin)} | ${command}`,
  ];
}

/** Returns a command that prints a text, on one line if the text consists of whole lines. */
function feed(text: string): string {
  if (!text.endsWith('\n')) return `printf %s ${quote(text)}`;
  return `printf '%s\\n' ${quoteAll(text.slice(0, -1).split('\n'))}`;
}

function preconditionLines({ argv, expect: { exit, stdout }, refusal }: Precondition): string[] {
  const wanted = [
    ...(exit === undefined ? [] : [`exits with status ${exit}`]),
    ...(stdout === undefined
      ? []
      : 'is' in stdout
        ? [stdout.is === '' ? 'prints nothing' : `prints ${quote(stdout.is)}`]
        : [`prints ${quote(stdout.has)} and not ${quote(stdout.lacks)}`]),
  ].join(' and ');
  return [comment(`  only if ${quoteAll(argv)} ${wanted}; else: ${refusal}`)];
}

/** Returns a shell comment without line breaks: a command in a name would get its own line. */
export const comment = (text: string): string => `# ${text.replaceAll(/[\r\n]/g, ' ')}`;
