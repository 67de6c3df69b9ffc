/** The rules of a node's udev that plans write, which are gone when the node starts anew. */
export class UdevRules {
  readonly #texts = new Map<string, string>();

  /** Carries out `find /dev/null -fprintf PATH TEXT`, and leaves out other commands. */
  write(argv: readonly string[]): void {
    const [program, , option, path = '', text = ''] = argv;
    if (program === 'find' && option === '-fprintf') this.#texts.set(path, text);
  }

  remove(paths: readonly string[]): void {
    for (const path of paths) this.#texts.delete(path);
  }

  clear(): void {
    this.#texts.clear();
  }

  /**
   * Returns the links that rules make for a device.
   * @param keys what the device has, by key of udev(7); a key that it lacks matches nothing
   */
  linksOf(keys: Readonly<Record<string, string | undefined>>): string[] {
    const lines = [...this.#texts.values()].flatMap((text) => text.split('\\n'));
    return lines.flatMap((text) => {
      const link = /SYMLINK\+="([^"]+)"/.exec(text)?.[1];
      if (link === undefined) return [];
      const matches = [...text.matchAll(/([A-Z]+(?:\{[^}]+\})?)=="([^"]*)"/g)];
      if (matches.length === 0) throw new Error(`a rule that matches everything: ${text}`);
      const isMeant = matches.every(
        ([, key = '', value]) => key === 'SUBSYSTEM' || keys[key] === value,
      );
      return isMeant ? [`/dev/${link}`] : [];
    });
  }
}
