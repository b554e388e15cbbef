/** Why kernels end early: the fault, where it happened, and what carries it out of the thread. */
package io.tessera.software.fault;
