import { InvalidArgumentError } from 'commander';

/** Parses a JSON list of strings, or a string; repeated options form one list. */
export function jsonOrElement(text: string, before: string[] = []): string[] {
  if (!text.startsWith('[')) return [...before, text];
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    // Refused below.
  }
  if (!Array.isArray(list) || !list.every((element) => typeof element === 'string')) {
    throw new InvalidArgumentError('Write a JSON list of strings, such as ["-m", "0"].');
  }
  return [...before, ...list];
}

/** Parses comma-separated elements of an option that may be repeated. */
export function commaList(text: string, before: string[] = []): string[] {
  const elements = text.split(',');
  if (elements.some((element) => element.trim() !== element || element === '')) {
    throw new InvalidArgumentError('Write options separated by commas, without spaces.');
  }
  return [...before, ...elements];
}
