/** Tests of fences in machine code as a whole, and what the tests of its parts share: {@code CubinBuilder} makes cubins, {@code CodeWords} instructions. */
package io.tessera.guardian.machine;
