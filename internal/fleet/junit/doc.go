// Package junit reads reports of tests in the XML form of JUnit, which test runners of all
// languages write. A report comes from a device that runs foreign code, so Parse bounds
// everything: the bytes, the depth, the number of cases, the failures it keeps and the
// length of each text. A document type is refused, so there are no entities to expand.
//
// Counts are made from the cases, not read from the attributes of a suite, because runners
// disagree about what they mean.
package junit
