/**
 * What instrumented methods call, defined in the bootstrap loader so that every class of the application reaches it:
 * the tables of live device memory and of launches, and the bean that shows them. Uses the JDK alone.
 */
package io.tessera.agent.boot;
