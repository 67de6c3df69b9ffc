// Bundles src/ into dist/ or the given directory: one entry, split at dynamic imports, so that
// `--help` loads little.
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { loaders } from './loaders/esbuild.mjs';
import { noticesOf } from './notices.mjs';
import { slimPackages } from './slim/plugin.mjs';

const outdir = process.argv[2] ?? 'dist';
await rm(outdir, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { main: 'src/main.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Names stay, for stack traces and logs: restoring them (keepNames) costs a call per closure.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: false,
  metafile: true,
  plugins: [loaders, slimPackages],
  outExtension: { '.js': '.mjs' },
  // Some dependencies are CommonJS and call require, which an ES module lacks.
  banner: {
    js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
  },
  logLevel: 'warning',
});
// The page of `stowage ui`, for browsers. Its file names are fixed: the server has a table of them.
const page = await build({
  entryPoints: { page: 'src/ui/main.tsx' },
  outdir: `${outdir}/ui`,
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2023',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  sourcemap: false,
  metafile: true,
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
});
for (const file of ['index.html', 'page.css', 'icon.svg']) {
  await copyFile(`src/ui/${file}`, `${outdir}/ui/${file}`);
}
// For the test that shows what `--help` can reach.
await writeFile(`${outdir}/meta.json`, JSON.stringify(metafile));
// Licenses of bundled packages require copies to include them.
await writeFile(
  `${outdir}/THIRD-PARTY-NOTICES`,
  await noticesOf({ outputs: { ...metafile.outputs, ...page.metafile.outputs } }),
);
