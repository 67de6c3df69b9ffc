import type { Command } from 'commander';
import { VERSION } from '../../api/version.ts';
import type { Io } from '../lib/io.ts';
import { printable } from '../lib/output/printable.ts';
import { type Asked, asked, type Candidate } from './parse-cursor.ts';

/** Time limit in ms: users wait no longer for a pressed key. */
const TIMEOUT = 1000;

/** Directives for the shell, as in cobra's ShellCompDirective, which kubectl interprets. */
const DIRECTIVE = { files: 0, noSpace: 2, noFiles: 4 } as const;

/** Names that need no quotes in any shell. Others are not offered, so no shell can run them. */
const PLAIN = /^[a-zA-Z0-9][a-zA-Z0-9._:/@+-]*$/;

/**
 * Runs `stowage __complete ARG…`, for shells. Prints the candidates for the last argument, one a
 * line with its description after a tab, and then the directive after a colon. Omits
 * candidates that it cannot determine, without an error.
 */
export async function complete(program: Command, words: readonly string[], io: Io): Promise<void> {
  const what = asked(program, words);
  const { values, start, prefix } = what;
  if (values !== undefined && 'files' in values) {
    return print([], DIRECTIVE.files, io);
  }
  const all =
    values === undefined
      ? []
      : 'words' in values
        ? values.words
        : 'choices' in values
          ? values.choices.map((word): Candidate => ({ word }))
          : await live(values, what, io);
  const found = all
    .filter(({ word }) => word.startsWith(start))
    .map(({ word, ...more }) => ({ ...more, word: prefix + word }));
  const isOpen = found.length > 0 && found.every(({ word }) => word.endsWith('/'));
  print(found, DIRECTIVE.noFiles + (isOpen ? DIRECTIVE.noSpace : 0), io);
}

type LiveValues = Extract<NonNullable<Asked['values']>, { live: string }>;

async function live(
  values: LiveValues,
  { given, start, ...what }: Asked,
  io: Io,
): Promise<Candidate[]> {
  const over = new AbortController();
  // A login program (exec plugin) ignores the signal.
  const late = io.clock.sleep(TIMEOUT, over.signal).then(
    (): Candidate[] => [],
    () => [],
  );
  try {
    const found = await Promise.race([
      liveCandidates(values, { given, start, ...what }, io, over.signal),
      late,
    ]);
    return found.filter(({ word }) => PLAIN.test(word));
  } catch {
    return [];
  } finally {
    over.abort();
  }
}

async function liveCandidates(
  values: LiveValues,
  { given, start, arguments: args }: Asked,
  io: Io,
  over: AbortSignal,
): Promise<Candidate[]> {
  const { live, ...more } = values;
  const kubeconfig = given.get('--kubeconfig');
  // Most completions need no code for clusters.
  if (live === 'contexts') {
    const { contextNames } = await import('../../kube/kubeconfig.ts');
    return (await contextNames({ kubeconfig })).map((word) => ({ word }));
  }
  const { liveNames } = await import('./live.ts');
  const signal = AbortSignal.any([io.signal, over]);
  const connection = await io.connect({
    kubeconfig,
    context: given.get('--context'),
    as: given.get('--as'),
    namespace: given.get('--namespace'),
    requestTimeoutMs: TIMEOUT,
    version: VERSION,
  });
  // Objects that an option names are in the namespace of the command's object. Names that may carry
  // a namespace do not depend on it.
  const [, ofArgument] = (more.anywhere ? null : /^([^/]+)\//.exec(args[0] ?? '')) ?? [];
  return liveNames(
    { live, ...more },
    start,
    ofArgument ?? connection.namespace,
    connection,
    signal,
  );
}

function print(candidates: readonly Candidate[], directive: number, io: Io): void {
  const lines = candidates.map(({ word, description }) => {
    const text = printable(description ?? '').replaceAll(/[\t\n]+/g, ' ');
    return text === '' ? word : `${word}\t${text}`;
  });
  io.stdout.write([...lines, `:${directive}`, ''].join('\n'));
}
