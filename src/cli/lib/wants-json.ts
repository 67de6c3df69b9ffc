/**
 * Reports whether a command line requests JSON, by `-o` or `--output`. Uses no parser, since errors
 * are JSON then too, even those of a command line that cannot be parsed.
 */
export function wantsJson(argv: readonly string[]): boolean {
  let format: string | undefined;
  for (const [index, argument] of argv.entries()) {
    if (argument === '--') break;
    // Flags without a value may stand before -o: -wo json.
    if (/^-[vw]*o$/.test(argument) || argument === '--output') format = argv[index + 1];
    else format = /^(?:-[vw]*o=?|--output=)(.+)$/.exec(argument)?.[1] ?? format;
  }
  return format === 'json';
}
