import type { Argument, Command, Option } from 'commander';
import { StowageError } from '../../../api/errors.ts';
import type { Io } from '../io.ts';
import { isInteractive } from '../prompts/interactive.ts';
import type { Choice, Prompts } from '../prompts/prompts.ts';

/**
 * Question about an option or the argument of a command, whose parser and choices apply to the
 * answer. A: flags and answers. L: access for reading choices.
 */
export interface Question<A, L = unknown> {
  /**
   * Attribute name of an option, or `name` for the argument; other names are the wizard's own. A
   * question is open while its answer is not given.
   */
  of: keyof A & string;
  message: string | ((answers: A) => string);
  /** Condition of the question. Default: always. `given`: the flags before the first question. */
  when?(answers: A, given: A): boolean;
  /** Set if the command needs the answer. A text names the answer where its option does not. */
  needed?: true | string;
  /** Labels of choices, which precede the other choices of the option. */
  names?: Readonly<Record<string, string>>;
  /** Reads choices from the cluster or a node. Without any, the answer is typed. */
  choices?(answers: A, live: L, io: Io): Promise<readonly Choice[]>;
  /** Message for a typed answer. `offered`: there were choices too. */
  typed?: string | ((offered: boolean) => string);
  /** True to let an empty answer leave the option out. Otherwise it leads to a typed answer. */
  none?: boolean | ((answers: A) => boolean);
  /** Message for one more answer, repeated until an answer is empty. */
  again?: string;
  /** Reports what is wrong with an answer that the parser takes. */
  problem?(text: string, answers: A): string | undefined;
  /** Parses an answer in place of the option's parser. Throws for an invalid answer. */
  take?(text: string, answers: A): Partial<A>;
}

export interface Asking<A, L> {
  command: Command;
  io: Io;
  /** Called once, before the first question. */
  live(): L | Promise<L>;
  /** Returns a hint for the error if nobody can be asked. */
  hint?(lacking: readonly string[]): string | undefined | Promise<string | undefined>;
  more?(answers: A, live: L): Promise<readonly Question<A, L>[]>;
}

type Complete<A, K extends keyof A> = A & { [P in K]-?: NonNullable<A[P]> };

/** Returns an option as written, such as `--attach-policy`. */
export const written = (flag: string): string =>
  `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Returns the needed answers that are missing, as written, the argument first. */
export const missing = <A, L>(questions: readonly Question<A, L>[], given: A): string[] =>
  questions
    .filter((question) => question.needed !== undefined && isOpen(question, given, given))
    .map(({ of, needed }) => (of === 'name' ? 'NAME' : needed === true ? written(of) : `${needed}`))
    .sort((a, b) => Number(b === 'NAME') - Number(a === 'NAME'));

/**
 * Asks all questions if a needed answer is missing. Throws a StowageError `usage` that names the
 * missing answers if nobody can be asked.
 */
export async function complete<A extends object, K extends keyof A, L>(
  questions: readonly Question<A, L>[],
  given: A,
  asking: Asking<A, L>,
): Promise<{ answers: Complete<A, K>; asked: boolean }> {
  const { io, live, hint, more } = asking;
  const answers = { ...given };
  const lacking = missing(questions, given);
  if (lacking.length > 0 && !isInteractive(io)) {
    const how = await hint?.(lacking);
    throw new StowageError('usage', `missing: ${lacking.join(', ')}`, how ? { hint: how } : {});
  }
  if (lacking.length > 0) {
    const prompts = await io.prompts();
    const by = await live();
    const askAll = async (all: readonly Question<A, L>[]) => {
      for (const question of all)
        if (isOpen(question, answers, given)) await ask(question, answers, by, asking, prompts);
    };
    await askAll(questions);
    if (more) await askAll(await more(answers, by));
  }
  return { answers: answers as Complete<A, K>, asked: lacking.length > 0 };
}

/** Returns choices, if there are any, with one more for typing the answer. */
export const orOther = (choices: readonly Choice[], name = 'another one'): readonly Choice[] =>
  choices.length === 0 ? [] : [...choices, { name, value: '' }];

const isOpen = <A, L>({ of, when }: Question<A, L>, answers: A, given: A): boolean =>
  answers[of] === undefined && (when?.(answers, given) ?? true);

async function ask<A extends object, L>(
  question: Question<A, L>,
  answers: A,
  live: L,
  asking: Pick<Asking<A, L>, 'command' | 'io'>,
  prompts: Prompts,
): Promise<void> {
  const { of, message, choices, typed, again } = question;
  const option = optionOf(asking.command, of);
  const none = typeof question.none === 'function' ? question.none(answers) : question.none;
  const take = (text: string): Partial<A> =>
    question.take?.(text, answers) ??
    ({ [of]: option?.parseArg?.(text, answers[of]) ?? text } as Partial<A>);
  const prompt = typeof message === 'function' ? message(answers) : message;
  const offered = (await choices?.(answers, live, asking.io)) ?? choicesOf(question, option);
  if (offered.length > 0) {
    const text = await prompts.select(prompt, offered);
    if (text !== '') Object.assign(answers, take(text));
    if (text !== '' || none) return;
  } else if (choices && none) return;
  else if (option && 'isBoolean' in option && option.isBoolean()) {
    Object.assign(answers, { [of]: await prompts.confirm(prompt) });
    return;
  }
  const wording = typeof typed === 'function' ? typed(offered.length > 0) : typed;
  const text = await prompts.input(wording ?? prompt, (text) =>
    text === '' && none
      ? undefined
      : (refusal(() => take(text)) ??
        question.problem?.(text, answers) ??
        (text === '' ? 'An answer is required' : undefined)),
  );
  if (text === '') return;
  Object.assign(answers, take(text));
  if (again) await ask({ ...question, message: again }, answers, live, asking, prompts);
}

const optionOf = (command: Command, of: string): Option | Argument | undefined =>
  command.options.find((option) => option.attributeName() === of) ??
  command.registeredArguments.find((argument) => argument.name() === of);

function choicesOf<A, L>({ names = {} }: Question<A, L>, option?: Option | Argument): Choice[] {
  const values = new Set([...Object.keys(names), ...(option?.argChoices ?? [])]);
  return [...values].map((value) => ({ name: names[value] ?? value, value }));
}

/** Returns why an answer is not accepted; undefined if it is. */
function refusal(take: () => unknown): string | undefined {
  try {
    take();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
