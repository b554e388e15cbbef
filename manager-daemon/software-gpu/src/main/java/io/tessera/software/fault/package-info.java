/** The reasons for which kernels end early: the fault, its place, and the exceptions that carry it out of the thread. */
package io.tessera.software.fault;
