/** The statements from which a fenced function is built, and the records of accesses that its fences stopped. */
package io.tessera.guardian.fence.text;
