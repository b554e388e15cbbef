/** What is said where an input cannot be used; beneath every other package of Autotalk. */
package io.tessera.autotalk.input;
