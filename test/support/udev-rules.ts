/** Udev rules of a node that plans write. A reboot removes them. */
export class UdevRules {
  readonly #texts = new Map<string, string>();

  /** Carries out `find /dev/null -fprintf PATH TEXT`, and ignores other commands. */
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
   * Returns the links that rules create for a device.
   * @param keys properties of the device, by key of udev(7); a missing key matches nothing
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
