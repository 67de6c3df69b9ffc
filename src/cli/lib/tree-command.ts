import { Command, type ErrorOptions } from 'commander';
import { StowageError } from '../../api/errors.ts';
import { wordsOf } from './command-tree.ts';
import type { GlobalFlags } from './globals.ts';
import { CLAIM_NAMES, POD_NAMES } from './resource-names.ts';

/** Command of the tree. Adds a hint where commander only reports an unknown name. */
export class TreeCommand extends Command {
  /** Lines of examples, with comments. */
  examples: readonly string[] = [];

  override createCommand(name?: string): Command {
    return new TreeCommand(name);
  }

  /** Ends the command with an error about an unknown name. */
  refuseWord(word: string): never {
    this.args = [word];
    // commander's types leave this method out.
    return (this as unknown as { unknownCommand(): never }).unknownCommand();
  }

  override error(message: string, options?: ErrorOptions): never {
    const isVerb = this.parent !== null && this.commands.length > 0;
    const [word = ''] = this.args;
    let what = message;
    let hint: string | undefined;
    if (options?.code === 'commander.unknownCommand') {
      if (isVerb) refuseUser(this, word);
      if (isVerb) what = message.replace('unknown command', 'unknown kind');
      hint = isVerb ? kindHint(this) : verbHint(this, word);
    } else if (options?.code === 'commander.unknownOption' && isVerb) {
      hint = `Options follow the kind: stowage ${this.name()} KIND [options]; ${kindHint(this)}`;
    } else if (options?.code === 'commander.unknownOption' && this.name() === 'several') {
      hint = `Some options take one kind: stowage ${this.parent?.name()} KIND [options]`;
    }
    return super.error(hint === undefined ? what : `${what}\nhint: ${hint}`, options);
  }
}

/** Names of kinds whose objects use Volumes. */
const USERS: ReadonlySet<string> = new Set([...CLAIM_NAMES, ...POD_NAMES]);

/**
 * Throws a StowageError `usage` for a claim or a pod, if the verb works on its Volumes instead.
 * @param word kind, or kind and name
 */
function refuseUser(verb: Command, word: string): void {
  const [noun = '', ...named] = word.split('/');
  if (!['resize', 'retry', 'pause', 'resume', 'detach'].includes(verb.name()) || !USERS.has(noun))
    return;
  const { namespace } = verb.optsWithGlobals<GlobalFlags>();
  const [, next = ''] = verb.args;
  const name = named.length > 0 ? named.join('/') : next;
  const isWhole = namespace === undefined || name.includes('/');
  // A flag in place of the name does not match below.
  const object = [noun, ...(isWhole ? [] : [namespace]), name].join('/');
  const shown = /^[a-z0-9]+(?:\/[a-z0-9][-a-z0-9.]*){1,2}$/.test(object) ? object : `${noun}/NAME`;
  const isClaim = verb.name() === 'resize' && (CLAIM_NAMES as readonly string[]).includes(noun);
  throw new StowageError('usage', `stowage ${verb.name()} takes Volumes, not ${shown}`, {
    hint: isClaim
      ? sizeHint(shown, verb.args.slice(named.length > 0 ? 1 : 2))
      : `Name its Volume: stowage ${verb.name()} volume NAME. To find it: stowage why ${shown}`,
  });
}

/**
 * Returns a hint for the size of a claim, which the Volume of a dynamic class follows.
 * @param shown the claim, as `pvc/NAME` or `pvc/NAMESPACE/NAME`
 */
function sizeHint(shown: string, [size = '']: readonly string[]): string {
  const [name, namespace] = shown.split('/').slice(1).toReversed();
  const wanted = /^[0-9.]+[A-Za-z]{0,2}$/.test(size) ? size : 'SIZE';
  // Both need no quotes. The function that quotes would make each start of the command slower.
  const claim = namespace === undefined ? name : `${name} -n ${namespace}`;
  const patch = JSON.stringify({ spec: { resources: { requests: { storage: wanted } } } });
  return `Request the size in the claim: kubectl patch pvc ${claim} --type merge -p '${patch}'; if its Volume was created by hand, name that: stowage resize volume NAME ${wanted}`;
}

/** Returns a hint with the kinds that a verb takes, and their aliases. */
function kindHint(verb: Command): string {
  const kinds = kindsOf(verb).map((kind) => [kind.name(), ...kind.aliases()].join('|'));
  return `stowage ${verb.name()} takes ${kinds.join(', ')}`;
}

/** Returns a hint for a kind in the place of a verb. */
function verbHint(program: Command, word: string): string | undefined {
  const verbs = program.commands.filter((verb) =>
    kindsOf(verb).some((kind) => kind.name() === word || kind.aliases().includes(word)),
  );
  if (verbs.length === 0) return undefined;
  return `The verb comes first: ${verbs.map((verb) => `stowage ${verb.name()} ${word}`).join(', ')}`;
}

/** Returns the kinds of a verb, without help. */
const kindsOf = (verb: Command): Command[] =>
  wordsOf(verb).filter((kind) => kind.name() !== 'help');
