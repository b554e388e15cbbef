/** What each instruction of PTX touches and needs, from tables. */
package io.tessera.guardian.fence.instruction;
