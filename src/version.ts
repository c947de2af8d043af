/** The version of this package, read from its manifest. */
import { createRequire } from 'node:module'

const manifest = createRequire(import.meta.url)('../package.json') as { readonly version: string }

export const PRODUCT_VERSION: string = manifest.version
