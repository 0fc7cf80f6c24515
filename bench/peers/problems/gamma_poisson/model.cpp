#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_VECTOR(y); DATA_VECTOR(exposure);
    PARAMETER(log_a); PARAMETER(log_b); PARAMETER_VECTOR(log_lambda);
    Type a = exp(log_a), b = exp(log_b);
    Type log_p = 2 * log_a - a + 2 * log_b - b;
    for (int i = 0; i < y.size(); i++) {
        Type lambda = exp(log_lambda(i));
        log_p += a * log_b - lgamma(a) + a * log_lambda(i) - b * lambda + y(i) * log_lambda(i) - lambda * exposure(i);
    }
    ADREPORT(a); ADREPORT(b);
    return -log_p;
}
