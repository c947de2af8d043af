/** One line of a ledger. Amounts are whole cents, so that sums are exact. */
export interface Entry {
  readonly date: string
  readonly account: string
  readonly cents: number
}
