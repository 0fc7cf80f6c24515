#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_VECTOR(y); DATA_VECTOR(x); DATA_IVECTOR(person); DATA_IVECTOR(item);
    PARAMETER(a); PARAMETER(b); PARAMETER(log_sigma_u); PARAMETER(log_sigma_v); PARAMETER_VECTOR(u); PARAMETER_VECTOR(v);
    Type sigma_u = exp(log_sigma_u), sigma_v = exp(log_sigma_v);
    Type log_p = dnorm(a, Type(0), Type(2.5), true) + dnorm(b, Type(0), Type(2.5), true) + dnorm(sigma_u, Type(0), Type(1), true) +
                 log_sigma_u + dnorm(sigma_v, Type(0), Type(1), true) + log_sigma_v;
    log_p += sum(dnorm(u, Type(0), sigma_u, true)) + sum(dnorm(v, Type(0), sigma_v, true));
    for (int i = 0; i < y.size(); i++)
        log_p += dbinom_robust(y(i), Type(1), a + b * x(i) + u(person(i) - 1) + v(item(i) - 1), true);
    ADREPORT(a); ADREPORT(b); ADREPORT(sigma_u); ADREPORT(sigma_v);
    return -log_p;
}
