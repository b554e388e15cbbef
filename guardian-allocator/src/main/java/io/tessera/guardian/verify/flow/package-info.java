/** The instructions of a function, its basic blocks, and their order of execution. */
package io.tessera.guardian.verify.flow;
