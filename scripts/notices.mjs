import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** File names that a copy of a package must include. */
const FILES = /^(licen[cs]e|copying|notice)([.-].*)?$/i;
/** Directory of a package, nested ones too, in a path of esbuild's metafile. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const RULE = '-'.repeat(100);

/** Returns the directories of the packages whose code is in the output, sorted. */
export function bundledPackages({ outputs }) {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const found = inputs.map(([path, { bytesInOutput }]) =>
    bytesInOutput === 0 ? undefined : PACKAGE.exec(path)?.[0],
  );
  return [...new Set(found)].filter((path) => path !== undefined).sort();
}

/**
 * Returns the text of dist/THIRD-PARTY-NOTICES: name, version, license and license text of each
 * bundled package. Throws an Error for a package that names no license or lacks its text.
 */
export async function noticesOf(metafile) {
  const parts = await Promise.all(bundledPackages(metafile).map(partOf));
  const head = 'Stowage contains code of the packages below, each under its own license.\n';
  return [head, ...parts].join(`\n${RULE}\n\n`);
}

async function partOf(folder) {
  const { name, version, license } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  );
  const files = (await readdir(folder)).filter((each) => FILES.test(each)).sort();
  if (typeof license !== 'string') throw new Error(`${folder}: its package.json names no license`);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const own = texts.length === 0 ? await fromReadme(folder) : texts;
  if (own.length === 0)
    throw new Error(`${folder}: it comes without the text of its license (${license})`);
  const text = own.map((each) => each.replaceAll('\r\n', '\n').trim()).join('\n\n');
  return `${name} ${version}\nLicense: ${license}\n\n${text}\n`;
}

/** Returns the section of the README with the license, for packages without a license file. */
async function fromReadme(folder) {
  const name = (await readdir(folder)).find((each) => /^readme/i.test(each));
  if (name === undefined) return [];
  const text = await readFile(join(folder, name), 'utf8');
  const [, section] = /^#+ *licen[cs]e[^\n]*\n+([\s\S]*?)(?=^#|$(?![\s\S]))/im.exec(text) ?? [];
  return section === undefined || !/copyright|permission/i.test(section) ? [] : [section];
}
