import { Command, type ErrorOptions } from 'commander';

/** A command of the tree. Where commander only says that it does not know a word, this says what there is, too. */
export class TreeCommand extends Command {
  override createCommand(name?: string): Command {
    return new TreeCommand(name);
  }

  /** Ends the command as one that was given a word which it does not know. */
  refuseWord(word: string): never {
    this.args = [word];
    // commander's own, which its types leave out.
    return (this as unknown as { unknownCommand(): never }).unknownCommand();
  }

  override error(message: string, options?: ErrorOptions): never {
    const isVerb = this.parent !== null && this.commands.length > 0;
    const [word = ''] = this.args;
    let what = message;
    let hint: string | undefined;
    if (options?.code === 'commander.unknownCommand') {
      if (isVerb) what = message.replace('unknown command', 'unknown kind');
      hint = isVerb ? kindHint(this) : verbHint(this, word);
    } else if (options?.code === 'commander.unknownOption' && isVerb) {
      hint = `Options follow the kind: stowage ${this.name()} KIND [options]; ${kindHint(this)}`;
    }
    return super.error(hint === undefined ? what : `${what}\nhint: ${hint}`, options);
  }
}

/** The kinds that a verb takes, with the other names of each. */
function kindHint(verb: Command): string {
  const kinds = kindsOf(verb).map((kind) => [kind.name(), ...kind.aliases()].join('|'));
  return `stowage ${verb.name()} takes ${kinds.join(', ')}`;
}

/** A kind that stands where a verb belongs. */
function verbHint(program: Command, word: string): string | undefined {
  const verbs = program.commands.filter((verb) =>
    kindsOf(verb).some((kind) => kind.name() === word || kind.aliases().includes(word)),
  );
  if (verbs.length === 0) return undefined;
  return `The verb comes first: ${verbs.map((verb) => `stowage ${verb.name()} ${word}`).join(', ')}`;
}

/** Not those that only stand for the verb without a kind. */
const kindsOf = (verb: Command): Command[] =>
  verb.commands.filter((kind) => kind.name() !== 'manifest' && kind.name() !== 'help');
